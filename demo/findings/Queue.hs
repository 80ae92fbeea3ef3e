-- | One thread makes what another one takes.
--
-- > Queue free     as fast as it can: what was not taken yet waits in a queue
-- > Queue bound    it waits when ten wait
-- > Queue load     it makes a table, which the other one uses once it is complete
-- > Queue copies   it is read through copies (dupChan), and its original by nobody
-- > Queue fast     as free, by a thread that makes a message in a fraction of a microsecond
-- > Queue pair     as free, by two threads with labels, of which the first one hardly works
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.IntMap.Strict as Map
import GHC.Conc (labelThread)
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [how] <- getArgs
  case how of
    "load" -> do
      table <- newEmptyMVar
      thread <- forkIO (putMVar table $! Map.fromList [(i * 7919 `mod` 1000003, i) | i <- [1 .. 150000]])
      labelThread thread "maker"
      made <- takeMVar table
      _ <- evaluate (foldl (\sum' i -> (sum' + Map.findWithDefault 0 i made) `mod` 1000003) 0 [1 .. 500000])
      performMajorGC
    "pair" -> do
      queue <- newChan
      done <- newEmptyMVar
      reader <- forkIO (mapM_ (writeChan queue . Just . show) [1 .. 120000 :: Int] >> writeChan queue Nothing)
      labelThread reader "reader"
      adder <- forkIO (add queue 1 >>= putMVar done)
      labelThread adder "adder"
      takeMVar done >>= print
      performMajorGC
    "fast" -> do
      queue <- newChan
      done <- newEmptyMVar
      _ <- forkIO (mapM_ (\n -> writeChan queue $! Just $! [n, n, n]) [1 .. 150000 :: Int] >> writeChan queue Nothing)
      let total sum' = readChan queue >>= maybe (pure sum') (\numbers -> (total $!) . (sum' +) $! weigh numbers)
      _ <- forkIO (total 0 >>= putMVar done)
      takeMVar done >>= print
    "copies" -> do
      original <- newChan
      copies <- replicateM 2 (dupChan original)
      dones <- forM copies $ \copy -> do
        done <- newEmptyMVar
        _ <- forkIO (replicateM_ 120000 (readChan copy >>= evaluate . length) >> putMVar done ())
        pure done
      forM_ [1 .. 120000 :: Int] (\number -> let text = show number in evaluate (length text) >> writeChan original text)
      mapM_ takeMVar dones
      performMajorGC
      readChan original >>= putStrLn
    _ -> do
      queue <- newChan
      places <- newQSem (if how == "bound" then 10 else 1000000)
      thread <- forkIO $ do
        forM_ [1 .. 2400] $ \number -> do
          waitQSem places
          let piece = [number .. number + 400 :: Int]
          _ <- evaluate (sum (concat (replicate 4 piece)))
          writeChan queue (Just piece)
        writeChan queue Nothing
      labelThread thread "maker"
      take' queue places 1
      performMajorGC

-- | Takes until nothing comes any more.
take' :: Chan (Maybe [Int]) -> QSem -> Int -> IO ()
take' queue places sum' = do
  next <- readChan queue
  forM_ next $ \numbers -> do
    signalQSem places
    sum'' <- evaluate (foldl (\a b -> (a * 7 + b) `mod` 10007) sum' (concat (replicate 25 numbers)))
    take' queue places sum''

-- | Some microseconds of work on a message.
weigh :: [Int] -> Int
weigh numbers = go (3000 :: Int) (sum numbers)
  where
    go 0 result = result
    go times result = go (times - 1) $! (result * 7 + times) `mod` 10007
{-# NOINLINE weigh #-}

-- | Takes texts until nothing comes any more, with much work for each.
add :: Chan (Maybe String) -> Int -> IO Int
add queue sum' = readChan queue >>= \next -> case next of
  Nothing -> pure sum'
  Just text -> do
    sum'' <- evaluate (foldl (\a b -> (a * 7 + b) `mod` 10007) sum' (map fromEnum (concat (replicate 40 text))))
    add queue sum''

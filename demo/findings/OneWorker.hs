-- | Sparks for lists, and their sum.
--
-- > OneWorker shallow    a spark evaluates the first cell of its list
-- > OneWorker deep       a spark evaluates all of its list
-- > OneWorker none       the same without sparks
-- > OneWorker threads    threads put sums that they have not evaluated where main finds them
-- > OneWorker workers    two threads answer again and again, with sums that they have not evaluated
-- > OneWorker ahead      the same, but their answers need not be taken before the next: they end long before main
-- > OneWorker each       main makes a thread for each sum, and waits for it
-- > OneWorker parts      main makes two threads for each step, and waits for both: one has most of the work
-- > OneWorker halves     the same, but both have half of it
-- > OneWorker server     four threads ask one that answers with sums that it has evaluated
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (par)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  let lists = [[total (2000 + 10 * k + j) | j <- [1 .. 5]] | k <- [1 .. 150]]
      sums = map sum lists
      spark (list, all') = case how of
        "shallow" -> list `par` ()
        "deep" -> all' `par` ()
        _ -> ()
  forM_ (zip lists sums) (evaluate . spark)
  when (how == "threads") $ do
    places <- forM [0 .. 3] $ \n -> do
      place <- newEmptyMVar
      _ <- forkIO (putMVar place (sum (map (total . (+ n)) [4000 .. 4040])))
      pure place
    mapM takeMVar places >>= evaluate . sum >>= print
  when (how == "workers") $ do
    (questions, answers) <- (,) <$> newEmptyMVar <*> newEmptyMVar
    replicateM_ 2 (forkIO (forever (takeMVar questions >>= putMVar answers . total)))
    _ <- forkIO (forM_ [1 .. 1000] (putMVar questions . (+ 1000)))
    replicateM_ 1000 (takeMVar answers >>= evaluate)
  when (how == "each") $ forM_ [1 .. 80] $ \number -> do
    done <- newEmptyMVar
    _ <- forkIO (evaluate (total (40000 + number)) >>= putMVar done)
    takeMVar done
  when (how `elem` ["parts", "halves"]) $ forM_ [1 .. 40] $ \step -> do
    dones <- forM (if how == "parts" then [70000, 10000] else [40000, 40000]) $ \size -> do
      done <- newEmptyMVar
      _ <- forkIO (evaluate (total (size + step)) >>= putMVar done)
      pure done
    mapM_ takeMVar dones
  when (how == "server") $ do
    questions <- newChan
    _ <- forkIO . forever $ do
      (question, answer) <- readChan questions
      evaluate (total question) >>= putMVar answer
    dones <- forM [1 .. 4] $ \client -> do
      (done, answer) <- (,) <$> newEmptyMVar <*> newEmptyMVar
      _ <- forkIO $ do
        forM_ [1 .. 400] (\number -> writeChan questions (10000 + client * number, answer) >> takeMVar answer)
        putMVar done ()
      pure done
    mapM_ takeMVar dones
  when (how == "ahead") $ do
    (questions, answers) <- (,) <$> newEmptyMVar <*> newChan
    let answer question = evaluate (total (question `div` 90)) >> writeChan answers (total question)
    replicateM_ 2 (forkIO (replicateM_ 1500 (takeMVar questions >>= answer)))
    _ <- forkIO (forM_ [1 .. 3000] (putMVar questions . (+ 2000)))
    replicateM_ 3000 (readChan answers >>= evaluate)
  unless (how `elem` ["each", "parts", "halves", "server"]) (evaluate (sum (reverse sums)) >>= print)

total :: Int -> Integer
total upTo = sum [1 .. toInteger upTo]
{-# NOINLINE total #-}

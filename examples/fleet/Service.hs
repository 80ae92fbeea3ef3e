{-# LANGUAGE BangPatterns, CPP #-}
-- | A shop that handles generated requests until its time is over, and rotates its eventlog meanwhile. In version 1.1,
-- lists of items are joined in the wrong order, and nothing removes old orders.
module Main (main) where

import Control.Concurrent
import Control.Exception (bracket_, evaluate, finally)
import Control.Monad
import Data.IORef
import qualified Data.Map.Strict as Map
import Debug.Trace (traceEventIO)
import Foreign.C
import GHC.Conc.Sync
import System.Environment (getArgs, getEnv)

foreign import ccall unsafe "eventlog_is_due" isDue :: CDouble -> CSize -> IO CBool

-- Before 9.2, the runtime does not stop capabilities while it ends a log: this thread has to be the only one that runs.
alone :: IO a -> IO a
#if MIN_VERSION_GLASGOW_HASKELL(9,2,0,0)
foreign import ccall safe "eventlog_rotate" rotate :: CString -> IO ()
foreign import ccall safe "eventlog_finish" finish :: IO ()
alone = id
#else
foreign import ccall unsafe "eventlog_rotate" rotate :: CString -> IO ()
foreign import ccall unsafe "eventlog_finish" finish :: IO ()
alone action = do
  capabilities <- getNumCapabilities
  bracket_ (setNumCapabilities 1) (setNumCapabilities capabilities) action
#endif

-- | Writes the labels of older threads into a new log, where the runtime can tell them.
relabel :: IO ()
#if MIN_VERSION_base(4,18,0)
relabel = listThreads >>= mapM_ (\thread -> threadLabel thread >>= mapM_ (labelThread thread))
#else
relabel = pure ()
#endif

-- | Runs a program whose eventlog goes to files in a folder, with about so many seconds or bytes each.
withRotation :: FilePath -> Double -> Int -> IO a -> IO a
withRotation folder seconds bytes program = withCString folder $ \path -> do
  let check = do
        due <- isDue (realToFrac seconds) (fromIntegral bytes)
        when (due /= 0) (alone (rotate path) >> relabel)
  check
  rotator <- forkIO (forever (threadDelay 100000 >> check))
  program `finally` (killThread rotator >> alone finish)

data Shop = Shop { version :: String, items :: Map.Map Int String, orders :: IORef (Map.Map Int [Int]) }

handle :: Shop -> Int -> IO ()
handle shop number = span' (if number `mod` 8 == 0 then "POST /order" else "GET /items") $ do
  let picks = take 300 (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) number)
      texts = [Map.findWithDefault "" (pick `mod` Map.size (items shop)) (items shop) | pick <- picks]
      page = if version shop == "1.1" then foldl (++) "" (take 100 texts) ++ concat (drop 100 texts) else concat texts
  !_ <- evaluate (sum (map fromEnum page))
  when (number `mod` 8 == 0) $ do
    !order <- evaluate (foldr seq picks picks)
    atomicModifyIORef' (orders shop) $ \old ->
      let new = Map.insert number order old
      in (if version shop /= "1.1" && Map.size new > 20 then Map.deleteMin new else new, ())

span' :: String -> IO a -> IO a
span' name = bracket_ (traceEventIO ("START " ++ name)) (traceEventIO ("STOP " ++ name))

main :: IO ()
main = do
  [folder, rotation, seconds] <- getArgs
  shop <- Shop <$> getEnv "APP_VERSION" <*> pure (Map.fromList [(i, "item " ++ show i) | i <- [0 .. 9999]]) <*> newIORef Map.empty
  next <- newIORef 0
  withRotation folder (read rotation) 64000000 $ do
    workers <- forM [1 .. 8 :: Int] $ \i -> forkIO $ do
      myThreadId >>= \thread -> labelThread thread ("worker " ++ show i)
      forever $ atomicModifyIORef' next (\n -> (n + 1, n)) >>= handle shop >> threadDelay 8000
    threadDelay (round (1000000 * read seconds :: Double))
    mapM_ killThread workers
  readIORef next >>= \n -> putStrLn (show n ++ " requests")
